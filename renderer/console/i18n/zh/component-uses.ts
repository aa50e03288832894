import type { uses as english } from '../en/component-uses.ts'
import type { Texts } from '../text.ts'

/** Uses of the third-party components in this product. */
export const uses: Texts<typeof english> = {
  archive: '归档',
  http: 'HTTP',
  store: '文件',
  database: '数据库',
  media: 'WebRTC',
  csv: 'CSV',
  discovery: '搜索摄像头',
  log: '日志',
  metrics: '指标',
  schedules: '日程',
  sdp: '会话描述',
  certificate: '证书',
  socket: 'WebSocket',
  objectStorage: '录像的对象存储',
  recording: '录像的写入与读取',
  cache: '有界缓存',
  queue: '队列',
  schema: '校验',
  page: '控制台',
  chart: '图表',
  shell: '桌面应用',
  updates: '更新',
  runtime: '运行环境',
}
