/** Templates of rooms. */
export const templates = {
  title: '房间模板',
  act: '模板',
  from: '模板',
  noTemplate: '无',
  save: '存为模板',
  saveTitle: '将房间存为模板',
  name: '名称',
  hint: '保存模式、所有者、上限、加入方式、等候室和标签，不含房间号、日程和主持人密码。',
  saved: '模板“{name}”已保存',
  none: '暂无模板。请打开房间并选择“存为模板”。',
  editOne: '编辑：{name}',
  editTitle: '编辑模板',
  deleteOne: '删除：{name}',
  deleteTitle: '删除模板“{name}”？',
  deleteBody: '删除后无法恢复。由它创建的房间不受影响。',
  deleted: '模板“{name}”已删除',
} as const
