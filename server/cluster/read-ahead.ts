import { onAbort } from '../../shared/abort.ts'
import type { IncomingMessage } from 'node:http'
import { headerOf } from '../edge/end-to-end-headers.ts'
import { maxCoveredBody } from '../edge/request-proof.ts'

const noBody = Buffer.alloc(0)

/**
 * Reads a body before its request takes a connection to the leader: slow clients hold none, the body can be proven, and sent again.
 * @returns `streamed`: it is announced as too long for that, and is passed on as it comes; `tooLong`: it came without its length, and `maxChunked` bytes are not enough
 * @param options `cut`: of one that is too long, the first bytes beyond `maxChunked` are returned: its receiver refuses it by its length
 * @throws what `left` is aborted with
 */
export async function readAhead(
  request: IncomingMessage,
  { maxChunked, cut }: { maxChunked: number; cut: boolean },
  left: AbortSignal,
): Promise<Buffer | 'streamed' | 'tooLong'> {
  const chunked = headerOf(request.rawHeaders, 'transfer-encoding') !== undefined
  const length = Number(headerOf(request.rawHeaders, 'content-length') ?? 0)
  if (!chunked && length === 0) return noBody
  if (!chunked && !(length <= maxCoveredBody)) return 'streamed'
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | 'tooLong'>()
  const chunks: Buffer[] = []
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes - chunk.length > maxChunked) return
    chunks.push(chunk)
    if (bytes > maxChunked && chunked) resolve(cut ? Buffer.concat(chunks) : 'tooLong')
  })
  request.once('end', () => resolve(Buffer.concat(chunks)))
  return await promise.finally(onAbort(left, () => reject(left.reason)))
}
