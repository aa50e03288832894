import { type FunctionalComponent, h, type VNodeChild } from 'vue'
import { RouterLink } from 'vue-router'
import type { InlinePart } from './page-content.ts'

const tags = { strong: 'strong', emphasis: 'em', deleted: 'del' } as const

/** Maximum length of code that is never broken between lines: flags would be broken at their hyphens. */
const maxWhole = 28

/** Renders text within a line. */
export const InlineText: FunctionalComponent<{ parts: readonly InlinePart[] }> = ({ parts }) => parts.map(shown)
InlineText.props = ['parts']

function shown(part: InlinePart): VNodeChild {
  if (typeof part === 'string') return part
  switch (part.kind) {
    case 'code':
      return h('code', { class: { whole: part.text.length <= maxWhole } }, part.text)
    case 'break':
      return h('br')
    case 'image':
      return h('img', { src: part.src, alt: part.text, loading: 'lazy' })
    case 'link': {
      const { to } = part
      const inside = part.parts.map(shown)
      if (to === undefined) return inside
      if (to.startsWith('/')) return h(RouterLink, { to }, () => inside)
      return h('a', { href: to, target: '_blank', rel: 'noopener noreferrer' }, inside)
    }
    default:
      return h(tags[part.kind], part.parts.map(shown))
  }
}
