import { relative, sep } from 'node:path'

const pathModules = /^(?:node:)?path(?:\/(?:posix|win32))?$/
const fileModules = /^(?:node:)?fs(?:\/promises)?$/
const joining = new Set(['join', 'resolve'])
/** The one file that joins names which others gave it. */
const home = 'shared/files/own-path.ts'
const message =
  'A path is made by insideOf (shared/files/own-path.ts) of names that it checks; join and resolve take constants only.'

/** Paths below a folder are made in one place, which checks each name: whatever was received cannot leave the folder. */
export const ownPaths = {
  meta: { type: 'problem', schema: [], docs: { description: 'let own-path.ts alone join a folder with a name' } },
  create(context) {
    const path = relative(context.cwd, context.filename).split(sep).join('/')
    if (path === home) return {}
    const { esTreeNodeToTSNodeMap, program } = context.sourceCode.parserServices ?? {}
    const checker = program?.getTypeChecker()
    /** Local names of functions, and of whole modules. */
    const joins = new Set()
    const modules = new Set()
    const files = new Set()

    /** Whether every value of an expression is written in the code. */
    function isConstant(node) {
      if (node.type === 'SpreadElement') return false
      if (node.type === 'Literal') return true
      if (node.type === 'TemplateLiteral') return node.expressions.every(isConstant)
      if (node.type === 'ConditionalExpression') return isConstant(node.consequent) && isConstant(node.alternate)
      if (node.type === 'MemberExpression' && node.object.type === 'MetaProperty') return true
      if (!checker) return false
      const type = checker.getTypeAtLocation(esTreeNodeToTSNodeMap.get(node))
      const types = type.isUnion() ? type.types : [type]
      return types.every((each) => each.isStringLiteral())
    }

    function isJoin(callee) {
      if (callee.type === 'Identifier') return joins.has(callee.name)
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return false
      const { object, property } = callee
      const whole = object.type === 'MemberExpression' ? object.object : object
      return joining.has(property.name) && whole.type === 'Identifier' && modules.has(whole.name)
    }

    /** A separator between an expression and what follows or precedes it. */
    function isGlued(node) {
      return (
        node.type === 'TemplateLiteral' &&
        node.quasis.some(({ value }) => /[/\\]/.test(value.cooked ?? '')) &&
        node.expressions.slice(1).some((each) => !isConstant(each))
      )
    }

    return {
      ImportDeclaration(node) {
        const isPath = pathModules.test(node.source.value)
        if (!isPath && !fileModules.test(node.source.value)) return
        for (const specifier of node.specifiers) {
          if (!isPath) files.add(specifier.local.name)
          else if (specifier.type !== 'ImportSpecifier') modules.add(specifier.local.name)
          else if (joining.has(specifier.imported.name)) joins.add(specifier.local.name)
          else if (/^(?:posix|win32)$/.test(specifier.imported.name)) modules.add(specifier.local.name)
        }
      },
      CallExpression({ callee, arguments: given }) {
        if (isJoin(callee)) {
          const wrong = given.find((each, at) => (at > 0 || each.type === 'SpreadElement') && !isConstant(each))
          if (wrong) context.report({ node: wrong, message })
        } else if (callee.type === 'Identifier' && files.has(callee.name)) {
          const wrong = given.find(isGlued)
          if (wrong) context.report({ node: wrong, message })
        }
      },
    }
  },
}
