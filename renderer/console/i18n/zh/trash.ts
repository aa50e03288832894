import type { trash as english } from '../en/trash.ts'
import type { Texts } from '../text.ts'

/** The trash, and undo after a deletion. */
export const trash: Texts<typeof english> = {
  title: '回收站',
  purpose: '已删除的内容，过期前可以恢复。',
  search: '搜索名称、号码、ID',
  empty: '回收站是空的',
  emptyBody: '删除的内容会在这里保留 {n} 天。',
  off: '回收站已关闭：删除的内容无法恢复。可在“设置 › 数据与备份”中开启。',
  full: '回收站已满：最早删除的内容会提前清除。',
  allKinds: '全部类型',
  kinds: { rooms: '房间', devices: '设备', credentials: '接入凭据', nodes: 'MCU 节点', wall_views: '监控墙视图' },
  columns: { name: '名称', kind: '类型', deleted: '删除时间', by: '删除者', expires: '过期时间' },
  client: '客户端 {key}',
  system: '控制器',
  withCameras: '+ {n} 个设备',
  inRoom: '位于房间 {room}',
  restore: '恢复',
  purge: '彻底删除',
  emptyIt: '清空回收站',
  undo: '撤销',
  undoHint: '撤销（Ctrl+Z）',
  restored: '已恢复 {n} 项',
  purged: '已彻底删除 {n} 项',
  kept: '{n} 天内可从回收站恢复。',
  notKept: '回收站已关闭：此操作无法撤销。',
  wallDeleted: '视图“{name}”已删除',
  ask: {
    purgeTitle: '彻底删除 {n} 项？',
    emptyTitle: '清空回收站？',
    body: '此操作无法撤销。',
  },
}
