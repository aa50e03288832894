/** Categories of counts, in the order in which a text has its forms. */
const order = ['zero', 'one', 'two', 'few', 'many', 'other'] as const

const knownRules = new Map<string, { rules: Intl.PluralRules; categories: Intl.LDMLPluralRule[] }>()

/**
 * Returns the index of the form for a count. A text has one form for all counts, one for each category of its language
 * (e.g. two in English: one, other), or two for one thing and several things.
 * @param tag language tag
 * @param forms number of forms of the text
 */
export function pluralIndex(tag: string, count: number, forms: number): number {
  let known = knownRules.get(tag)
  if (known === undefined) {
    const rules = new Intl.PluralRules(tag)
    const { pluralCategories } = rules.resolvedOptions()
    known = { rules, categories: order.filter((category) => pluralCategories.includes(category)) }
    knownRules.set(tag, known)
  }
  const { rules, categories } = known
  if (forms === categories.length) return categories.indexOf(rules.select(count))
  return count === 1 ? 0 : forms - 1
}

/** Returns the form of a text for a count. Forms are separated by ` | `. */
export function pluralForm(text: string, tag: string, count: number): string {
  const forms = text.split(' | ')
  return forms[pluralIndex(tag, count, forms.length)] ?? text
}
