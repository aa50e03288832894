import type { OperationContract } from '../../shared/operation.ts'
import { readObjectText } from './object-text.ts'

/**
 * The token of a request under any of its operation's names, the specification's own first, or in the document that may hold it. Empty when there is none. A space in it stands for an
 * unescaped `+`.
 */
export function tokenOf(
  { token, tokenDocument }: Pick<OperationContract, 'token' | 'tokenDocument'>,
  parameters: ReadonlyMap<string, unknown>,
): string {
  const names = token ?? []
  for (const name of names) {
    const value = parameters.get(name)
    if (typeof value === 'string' && value !== '') return value
  }
  const text = tokenDocument === undefined ? undefined : parameters.get(tokenDocument)
  const document = typeof text === 'string' && text !== '' ? readObjectText(text) : undefined
  if (document === undefined) return ''
  for (const name of names) {
    const value = Object.hasOwn(document, name) ? document[name] : undefined
    if (typeof value === 'string' && value !== '') return value
  }
  return ''
}
