const directive = /^\s*eslint-disable(?:-next-line|-line)?\b(?!.*\s--\s\S)/s

/** Refuses an exception from a lint rule without a reason behind ` -- `. */
export const reasonedException = {
  meta: { type: 'problem', schema: [], docs: { description: 'ask for the reason of each lint exception' } },
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          if (!directive.test(comment.value)) continue
          const message = 'Write the reason behind the rule: "eslint-disable-next-line RULE -- reason".'
          context.report({ loc: comment.loc, message })
        }
      },
    }
  },
}
