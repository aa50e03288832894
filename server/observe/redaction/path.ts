import { allOperations } from '../../../shared/operations.ts'
import { isPlainText, textLength } from './plain-text.ts'

const operationPaths = new Set<string>(allOperations.map(({ path }) => path))
/** Words of paths that exist, that older clients ask for, or that everybody's browser does. */
const words = new Set(
  [...operationPaths]
    .flatMap((path) => path.split('/'))
    .concat(
      [
        'jroom',
        'signal',
        'whip',
        'whep',
        'entry',
        'ws',
        'api',
        'admin',
        'config',
        'serverinfo',
        'getAccessToken',
        'get_user_number',
      ],
      [
        'get_by_room_extend_id',
        'favicon.ico',
        'robots.txt',
        'index.html',
        'openapi.json',
        'docs',
        'healthz',
        'metrics',
        'v1',
      ],
    )
    .map((word) => word.toLowerCase()),
)

/** A request's path as it may be shown: the path of an operation as it is, any other up to its first piece that is not a known word. */
export function shownPath(path: string): string {
  if (operationPaths.has(path) || path === '') return path
  const segments = path.split('/')
  const plain = segments.findIndex((segment) => !words.has(segment.toLowerCase()) && !isPlainText(segment))
  if (plain === -1 && path.length <= 200) return path
  const shown = segments.slice(0, plain).join('/')
  return plain <= 0 ? textLength(path) : `${shown}/${textLength(path.slice(shown.length + 1))}`
}

const methods = new Set(['GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'CONNECT', 'TRACE'])

/** A request's method as it may be shown. */
export function shownMethod(method: string): string {
  return methods.has(method) || method === '' ? method : textLength(method)
}
