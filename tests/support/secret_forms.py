"""URLs and other texts that contain a secret at ``{}``, in the forms of many vendors, and ordinary values."""

FORMS = r"""jdbc:oracle:thin:scott/{}@db:1521:x
jdbc:oracle:thin:scott/{}@//db:1521/svc
jdbc:oracle:oci:scott/"{}"@db
jdbc:oracle:thin:scott/{}@(DESCRIPTION=(ADDRESS=(HOST=h)))
jdbc:oracle:thin:"sc ott"/{}@db
jdbc:sqlserver://h:1433;databaseName=x;user=u;password={};encrypt=true
jdbc:sqlserver://h;user=u;password={{{};x}};a=b
jdbc:sqlserver://h;trustStorePassword={}
jdbc:sqlserver://h;keyStoreSecret={};
jdbc:db2://h:50000/x:user=u;password={};
jdbc:postgresql://h/x?user=u&password={}&ssl=true
postgresql://u:{}@h/x
jdbc:mysql://u:{}@h:3306/x
jdbc:mysql://h1:3306,u:{}@h2:3306/x
jdbc:mysql://address=(host=h)(user=u)(password={})/x
jdbc:mysql://(host=h,user=u,password={})/x
jdbc:derby:db;user=u;password={}
jdbc:derby:db;bootPassword={};x=1
jdbc:h2:~/test;USER=sa;PASSWORD={}
jdbc:sybase:Tds:h:2638?USER=u&PASSWORD={}
jdbc:informix-sqli://h:9088/x:INFORMIXSERVER=s;user=u;password={}
jdbc:hsqldb:file:x;user=u;password={}
jdbc:snowflake://h/?user=u&private_key_file_pwd={}
jdbc:teradata://h/USER=u,PASSWORD={}
https://{}@github.com/x
https://u:{}@h/x?y=1
//u:{}@h/x
u:{}@h
u:{}@[::1]:61616
tcp://h:61616?keyStorePassword={};x=1
tcp://h:61616?sslEnabled=true;trustStorePassword={}
(tcp://h:1,tcp://u:{}@h:2)?ha=true
amqp://u:{}@h:5672
ldap://cn=x:{}@h
https://acc.blob.core.windows.net/c?sv=1&sig={}&se=2
https://s3.amazonaws.com/b?X-Amz-Signature={}&X-Amz-Date=1
https://s3.amazonaws.com/b?X-Amz-Security-Token={}
DefaultEndpointsProtocol=https;AccountName=a;AccountKey={}==;EndpointSuffix=x
Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey={}
https://maps/api?key={}
ENC({})
Bearer {}abcdef
Authorization: Basic {}abcdef
-----BEGIN RSA PRIVATE KEY-----{}-----END RSA PRIVATE KEY-----
-----BEGIN PRIVATE KEY-----{}
eyJhbGciOiJIUzI1NiJ9.{}.c2ln
host=h password={} dbname=x
jdbc:oracle:thin:u%2F{}@h""".splitlines()

ORDINARY = """tcp://0.0.0.0:61616?tcpSendBufferSize=1048576;protocols=CORE,AMQP
jdbc:derby:data/derby;create=true
jdbc:oracle:thin:@db:1521:x
jdbc:postgresql://h:5432/x?user=u&ssl=true
orders::orders@eu
quay.io/artemiscloud/broker@sha256:abcdef
$.artemis.internal.sf.my-cluster.1234
org.apache.activemq.artemis.core.Foo
a.b.#
/srv/data@1/x
basic
vm://0
udp://231.7.7.7:9876
100M
someone@example.com""".splitlines()
