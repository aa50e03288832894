import type { find as english } from '../en/find.ts'
import type { Texts } from '../text.ts'

/** Texts of the search over everything. */
export const find: Texts<typeof english> = {
  title: '全局搜索',
  open: '全局搜索 (Ctrl+K)',
  label: '搜索房间、参会者、摄像头、标签、设置、帮助…',
  results: '搜索结果',
  nothing: '没有找到',
  count: '{n} 条结果',
  more: '还有更多，请继续输入',
  allEvents: '在全部事件中搜索“{text}”',
  groups: {
    recent: '最近打开',
    tags: '标签',
    people: '房间中的人员',
    pages: '页面',
    actions: '操作',
    settings: '设置',
    help: '帮助',
  },
  acts: {
    newRoom: '新建房间',
    newDevice: '添加设备',
    dark: '深色主题',
    light: '浅色主题',
    signOut: '退出登录',
  },
}
