/** Conflicts of edits. */
export const edits = {
  title: '内容已被更改',
  body: '在您编辑期间，相同的字段已在别处更改。请选择要保留的值。您所做的其他更改都会保存。',
  mine: '您的值',
  theirs: '当前值',
  theirsBy: '由 {name} 更改，{time}',
  none: '无',
  secret: '已隐藏',
  change: '{field}：{before} → {after}',
  secretChanged: '{field}已更改',
  quoted: '“{text}”',
  part: '{field}（{part}）',
  named: '{field}：{value}',
  separator: '；',
  templateSettings: '房间设置',
}
