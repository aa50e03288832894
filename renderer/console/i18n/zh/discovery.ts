import type { discovery as english } from '../en/discovery.ts'
import type { Texts } from '../text.ts'

/** 在网络中搜索摄像头。 */
export const discovery: Texts<typeof english> = {
  ways: '添加方式',
  byAddress: '输入地址',
  bySearch: '在网络中查找',
  searching: '正在搜索网络中的摄像头…',
  found: '找到 {count} 个',
  again: '重新搜索',
  use: '使用',
  added: '已添加',
  none: '{addresses} 所在的网络中没有摄像头应答。',
  blocked: '此控制器无法搜索任何网络：它没有网络地址，或者防火墙拒绝组播（UDP 3702）。',
  outside: '有摄像头从允许的摄像头网络之外应答：{hosts}。请在“设置 → 媒体”中添加其网络，否则无法使用这些摄像头。',
  settings: '允许的摄像头网络',
  mendOnvif: '在摄像头的设置中开启 ONVIF 和 WS-Discovery（组播）。',
  mendNetwork: '搜索不会越过路由器：其他网络或 VLAN 中的摄像头，请输入其地址。',
  mendMulticast: 'Wi-Fi、交换机和防火墙可能会丢弃组播（UDP 3702，组播地址 239.255.255.250）。',
  asking: '正在向 {name} 查询码流…',
  login: '摄像头要求登录。',
  wrongLogin: '摄像头拒绝了此登录。请检查用户名和密码。',
  noStreams: '摄像头没有给出地址。请按其说明书输入。',
  gone: '摄像头不再应答，请重新搜索。',
  sameLogin: '使用 {name} 的登录信息',
  askStreams: '查询码流',
  other: '另选一个',
  stream: '码流',
  unnamedSize: '未给出尺寸',
}
