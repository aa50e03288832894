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
  const document = typeof text === 'string' && text !== '' ? readObjectText(unescaped(text)) : undefined
  if (document === undefined) return ''
  for (const name of names) {
    const value = Object.hasOwn(document, name) ? document[name] : undefined
    if (typeof value === 'string' && value !== '') return value
  }
  return ''
}

/** A document that was escaped by itself and again with its query, as clients do that say `uri_encode=yes` and let a library make the query. */
function unescaped(text: string): string {
  if (!/^%7b/i.test(text)) return text
  try {
    return decodeURIComponent(text)
  } catch {
    // A broken escape: no document.
    return ''
  }
}
