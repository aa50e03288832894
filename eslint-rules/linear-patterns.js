/** Which unbounded quantifiers a pattern has that can make a match take more than linear time: lazy ones, and ones inside a repeated group. */
export function slowQuantifiers(pattern) {
  const found = new Set()
  /** For each open group: whether it has an unbounded quantifier. */
  const groups = [false]
  let closed = false
  for (let at = 0; at < pattern.length; at++) {
    const wasClosed = closed
    closed = false
    const char = pattern[at]
    if (char === '\\') at++
    else if (char === '[') at = endOfClass(pattern, at)
    else if (char === '(') {
      groups.push(false)
      // The question mark of a group's kind is no quantifier.
      if (pattern[at + 1] === '?') at++
    } else if (char === ')') closed = groups.pop() === true ? 'repeats' : 'plain'
    else {
      const quantifier = /^(?:[*+]|\{\d+(?:,\d*)?\})/.exec(pattern.slice(at, at + 12))?.[0]
      if (quantifier === undefined) continue
      at += quantifier.length - 1
      const unbounded = /^(?:[*+]|\{\d+,\})$/.test(quantifier)
      if (unbounded && pattern[at + 1] === '?') found.add('lazy')
      if (unbounded && wasClosed === 'repeats') found.add('nested')
      if (unbounded || wasClosed === 'repeats') groups[groups.length - 1] = true
    }
    if (closed === 'repeats') groups[groups.length - 1] = true
  }
  return found
}

function endOfClass(pattern, start) {
  let at = start + 1
  for (; at < pattern.length && pattern[at] !== ']'; at++) if (pattern[at] === '\\') at++
  return at
}

const messages = {
  lazy: 'A lazy quantifier without a bound takes quadratic time on text without its end: name the characters ([^>]*), use indexOf, or a parser.',
  nested: 'A repetition inside a repetition may take exponential time: bound one of them, or split the text first.',
}

/** Refuses patterns of the server that text from other machines could make slow. */
export const linearPatterns = {
  meta: { type: 'problem', schema: [], messages, docs: { description: 'keep the time of patterns linear' } },
  create(context) {
    const check = (node, pattern) => {
      for (const messageId of slowQuantifiers(pattern)) context.report({ node, messageId })
    }
    return {
      Literal(node) {
        if (node.regex !== undefined) check(node, node.regex.pattern)
      },
      'NewExpression[callee.name="RegExp"], CallExpression[callee.name="RegExp"]'(node) {
        const [first] = node.arguments
        if (first?.type === 'Literal' && typeof first.value === 'string') check(node, first.value)
        if (first?.type === 'TemplateLiteral')
          check(node, first.quasis.map(({ value }) => value.cooked ?? '').join('x'))
      },
    }
  },
}
