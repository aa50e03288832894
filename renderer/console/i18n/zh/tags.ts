import type { tags as english } from '../en/tags.ts'
import type { Texts } from '../text.ts'

/** Tags of rooms and devices. */
export const tags: Texts<typeof english> = {
  title: '标签',
  add: '添加标签',
  edit: '编辑标签',
  act: '标签…',
  filter: '仅显示带有这些标签的行',
  filterBy: '仅显示带有此标签的行',
  unfilter: '正按此标签筛选，点击取消',
  group: '按标签分组',
  groupShort: '分组',
  none: '无标签',
  openAll: '全部展开',
  closeAll: '全部折叠',
  placeholder: '输入或选择标签',
  hint: '每个标签后按回车键，每个最多 40 个字符。',
  typeNew: '输入标签后按回车键',
  new: '新',
  noMatch: '没有这个标签',
  dialog: {
    rooms: '{n} 个房间的标签',
    devices: '{n} 台设备的标签',
    add: '添加',
    remove: '移除',
  },
  drop: {
    title: '放弃更改？',
    body: '您在此更改的标签尚未保存。',
    act: '放弃',
  },
  told: {
    saved: '标签已保存',
    nothing: '标签无需更改',
    rooms: '已更改 {n} 个房间的标签',
    devices: '已更改 {n} 台设备的标签',
  },
  found: {
    rooms: '{n} 个房间',
    devices: '{n} 台设备',
  },
}
