import type { Texts } from '../text.ts'
import type { waiting as english } from '../en/waiting.ts'

export const waiting: Texts<typeof english> = {
  title: '等候进入',
  admit: '允许进入',
  admitAll: '全部允许进入',
  refuse: '拒绝',
  write: '发送消息',
  since: '已等候 {span}',
  room: '房间“{room}”',
  more: '另有 {n} 人',
  admitted: '已允许 {name} 进入 | 已允许 {n} 人进入',
  refused: '已拒绝 {name}',
  refuseTitle: '拒绝 {name}？',
  refuseBody: '此人不能进入“{room}”，一分钟后可再次请求。',
  refusals: {
    notWaiting: '有人已不再等候。',
    locked: '房间已锁定：请先解锁，再允许他人进入。',
    roomFull: '房间已满：请提高人数上限，再允许他人进入。',
    failed: '房间所在的节点没有响应，请重试。',
  },
  message: {
    title: '给 {name} 的消息',
    titleAll: '给“{room}”所有等候者的消息',
    label: '消息',
    placeholder: '请稍等五分钟',
    hint: '以您的账号名称显示在等候页面上。',
    send: '发送',
    sent: '消息已显示',
    quick: '快捷消息',
    soon: '马上为您安排进入。',
    late: '会议将推迟几分钟开始。',
    wrong: '您进错房间了，请核对邀请。',
  },
  notice: {
    label: '等候者',
    one: '{name} 正在等候进入“{room}”',
    many: '{n} 人正在等候进入',
    show: '查看',
    hide: '隐藏',
  },
  count: '{n} 人正在等候',
}
