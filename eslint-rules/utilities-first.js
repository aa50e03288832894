/** Most utilities of an element that a reader takes in at once. */
const most = 9
/** Properties whose values utilities say as shortly. */
const property =
  /^(?:display|position|(?:row-|column-)?gap|(?:margin|padding)(?:-\w+)*|(?:min-|max-)?(?:width|height)|inset|top|right|bottom|left|flex(?:-\w+)*|(?:align|justify)-(?:items|self|content)|place-(?:items|content)|overflow(?:-[xy])?|overflow-wrap|color|background|border(?:-(?:top|right|bottom|left|color|radius))?|font-(?:size|weight|variant-numeric)|line-height|text-(?:align|overflow|decoration|wrap)|white-space|cursor|opacity|z-index|pointer-events|object-fit|user-select|order|box-shadow)$/
const value = /^(?:(?:var\(--[\w-]+\)|-?[\d.]+(?:px|%|ch|dvh)?|[a-z-]+)(?: (?!$)|$)){1,4}$/
const simpleRule = /(^|[{}/])\s*\.([\w-]+)\s*\{([^{}]*)\}/g

/** Declarations of a rule, or undefined if one is not for utilities. */
function declarationsOf(body) {
  const declarations = body
    .split(';')
    .map((each) => each.trim())
    .filter(Boolean)
    .map((each) => each.split(/:\s*/, 2))
  return declarations.every(([name, content = '']) => property.test(name) && value.test(content))
    ? declarations
    : undefined
}

const count = (text, character) => text.split(character).length - 1
const depthAt = (css, index) => count(css.slice(0, index), '{') - count(css.slice(0, index), '}')

/** A class that styles one element with a few plain declarations is utilities of that element instead. */
export const utilitiesFirst = {
  meta: { type: 'suggestion', schema: [], docs: { description: 'let utilities do what they express' } },
  create(context) {
    const { sourceCode } = context
    const fragment = sourceCode.parserServices.getDocumentFragment?.()
    const styles = fragment?.children.filter(({ type, name }) => type === 'VElement' && name === 'style') ?? []
    if (styles.length === 0) return {}
    /** Elements by the classes of their `class` attribute. */
    const elements = new Map()
    let expressions = ''
    return sourceCode.parserServices.defineTemplateBodyVisitor({
      VElement(element) {
        const { attributes } = element.startTag
        const { value: literal } = attributes.find(({ key }) => key.name === 'class') ?? {}
        // What `:class` adds may replace a declaration, which depends on the order of rules.
        const isToggled = attributes.some(({ key }) => key.argument?.name === 'class')
        const classes = literal?.value.split(/\s+/).filter(Boolean) ?? []
        for (const name of classes) elements.set(name, [...(elements.get(name) ?? []), { element, classes, isToggled }])
      },
      VExpressionContainer(node) {
        expressions += `${sourceCode.getText(node)}\n`
      },
      "VElement[name='template']:exit"(template) {
        if (template.parent.type !== 'VDocumentFragment') return
        for (const style of styles) check(style)
      },
    })

    function check(style) {
      const css = sourceCode.text.slice(style.startTag.range[1], style.endTag?.range[0])
      for (const { 1: before, 2: name, 3: body, index } of css.matchAll(simpleRule)) {
        // A comment before a rule says why it is one. What @media or @container surrounds is no simple rule.
        if (before === '/' || depthAt(css, index + before.length) > 0) continue
        const [only, ...others] = elements.get(name) ?? []
        if (!only || only.isToggled || others.length > 0 || !/^[a-z]\w*$/.test(only.element.rawName)) continue
        const mentions = new RegExp(`[.'"\`\\s{,]${name}(?![\\w-])`, 'g')
        if (css.match(new RegExp(`\\.${name}(?![\\w-])`, 'g')).length > 1 || mentions.test(expressions)) continue
        const declarations = declarationsOf(body)
        if (!declarations || declarations.length + only.classes.length - 1 > most) continue
        context.report({
          loc: sourceCode.getLocFromIndex(style.startTag.range[1] + index + before.length),
          message: `Write the declarations of .${name} as utilities of its element (uno.config.ts), or say in a comment before them why they are a rule.`,
        })
      }
    }
  },
}
