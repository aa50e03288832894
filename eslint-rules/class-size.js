const maxFields = 10
const maxMethods = 20

const isFunction = (value) => value?.type === 'ArrowFunctionExpression' || value?.type === 'FunctionExpression'

/** Refuses classes with more fields or methods than a reader keeps in mind. A field that holds a function counts as a method; static members do not count. */
export const classSize = {
  meta: { type: 'problem', schema: [], docs: { description: 'limit the fields and methods of a class' } },
  create(context) {
    return {
      ClassBody(node) {
        let fields = 0
        let methods = 0
        for (const member of node.body) {
          if (member.static) continue
          if (member.type === 'PropertyDefinition' && !isFunction(member.value)) fields += 1
          else if (member.type === 'PropertyDefinition' || member.type === 'AccessorProperty') methods += 1
          else if (member.type === 'MethodDefinition' && member.kind !== 'constructor') methods += 1
        }
        if (fields <= maxFields && methods <= maxMethods) return
        const name = node.parent.id?.name ?? 'This class'
        const message = `${name} has ${fields} fields (at most ${maxFields}) and ${methods} methods (at most ${maxMethods}): split it by what changes together.`
        context.report({ node: node.parent.id ?? node.parent, message })
      },
    }
  },
}
