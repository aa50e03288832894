/** STUN and TURN servers. */
export const ice = {
  urls: '地址',
  urlsHint: 'stun: 或 turn: 地址，每行一个。',
  username: '用户',
  credential: '密码',
  add: '添加服务器',
  remove: '移除此服务器',
  none: '无：浏览器直接连接。',
} as const
