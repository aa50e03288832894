import type { help as english } from '../en/help.ts'
import type { Texts } from '../text.ts'

/** Texts of the help: the docs in the console. */
export const help: Texts<typeof english> = {
  purpose: '此版本的文档，无需互联网。',
  contents: '帮助页面',
  all: '全部页面',
  groups: { operate: '运行站点', integrate: '编写客户端' },
  onPage: '本页内容',
  previous: '上一页',
  next: '下一页',
  code: '代码',
  table: '表格',
  about: '帮助：{name}',
  openPage: '打开完整页面',
  linkTo: '“{name}”的链接',
  missing: '没有此帮助页面',
  missingBody: '链接可能来自其他版本。全部页面见列表。',
  onlyEnglish: '文档仅有英文版。',
}
