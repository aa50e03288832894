import type { displays as english } from '../en/displays.ts'
import type { Texts } from '../text.ts'

/** Walls on the displays of this computer. */
export const displays: Texts<typeof english> = {
  title: '监控墙显示器',
  hint: '本机的每台显示器都可以全屏显示一个已保存的监控墙视图，期间显示器保持常亮。',
  display: '显示器 {n}',
  primary: '主显示器',
  unplugged: '未连接',
  nothing: '不显示监控墙',
  deleted: '已删除的视图',
  noViews: '还没有已保存的视图。',
  makeView: '在“监控墙”页面创建',
  atLogin: '登录时打开',
  atLoginHint: '登录本机后 Roomdesk 自动启动，并打开监控墙。',
  people: '监控墙显示器只能看到查看者可见的内容：摄像头，不含房间内的参会者。',
  peopleSetting: '允许查看者观看会议',
  leaveHint: '按 Ctrl+Alt+Q 关闭监控墙；在 Mac 上按 control+option+Q。',
  open: '立即打开监控墙',
  areOpen: '监控墙已打开。',
  saved: '监控墙显示器设置已保存',
  viewGone: '此监控墙视图已被删除。请在“设置”的“显示器”中选择其他视图。',
  leave: { before: '按', after: '关闭监控墙' },
}
