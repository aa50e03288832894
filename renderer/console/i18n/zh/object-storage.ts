import type { objectStorage as english } from '../en/object-storage.ts'
import type { Texts } from '../text.ts'

/** Object storage of recordings. */
export const objectStorage: Texts<typeof english> = {
  test: '测试连接',
  testing: '正在测试…',
  works: '连接正常：列出、写入、读取和删除共用 {ms} 毫秒。',
  unsavedTest: '测试使用此处填写的内容，无论是否已保存。',
  fault: '{step}{problem}',
  steps: {
    list: '列出存储桶失败。',
    put: '写入测试对象失败。',
    get: '读取测试对象失败。',
    delete: '删除测试对象失败。',
  },
  status: {
    name: '对象存储',
    stored: '{n} 段，共 {size}',
    remoteOnly: '；其中 {count} 段只在那里',
    waiting: '等待上传',
    waitingText: '{n} 段，共 {size}，最早的自 {time} 起等待',
    deleting: '待删除的对象',
  },
  failed: '对象存储无法使用。在恢复之前，录像保留在本地磁盘。',
  problems: {
    incomplete: '请填写地址、存储桶、密钥 ID 和密钥。',
    ownPort: '该地址指向 Roomdesk 自己的端口。请填写存储服务的地址。',
    notPermitted: '该地址指向本机、链路本地地址或允许的网络之外。请将其网络加入“允许的网络”。',
    otherSite:
      '另一个站点已用此前缀在该存储桶中存放录像。请选择其他前缀，或删除那里的 roomdesk-recordings.json 以接管其录像。',
    caFile: '证书颁发机构文件无法读取，或不含 PEM 证书。请检查路径。',
    notFound: '找不到该主机。请检查地址和域名服务器。',
    unreachable: '无法连接存储。请检查其地址、端口和网络。',
    silent: '存储没有及时应答。请检查存储和网络。',
    certificate: '证书不受信任。请填写其颁发机构的文件，或检查主机名和有效期。',
    keyUnknown: '存储不认识此密钥 ID。请检查密钥 ID。',
    signature: '存储不接受签名。请检查密钥和区域。',
    denied: '该密钥没有权限。请允许它列出存储桶，并写入、读取和删除其中的对象。',
    clock: '本机时钟与存储的时钟相差过大。请校准时钟。',
    bucket: '没有这个存储桶。请创建它，或检查名称。',
    region: '该存储桶在另一个区域。请检查区域和地址。',
    full: '存储空间已满。请在那里腾出空间。',
    mismatch: '存储中的内容与发送的不一致。请检查存储及其前面的代理。',
    missing: '存储中已没有某段录像。',
    refused: '存储拒绝了请求。',
    noService: '该地址有应答，但不是兼容 S3 的服务。请检查地址。',
  },
}
