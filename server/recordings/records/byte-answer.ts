import { createReadStream } from 'node:fs'
import type { Context } from 'koa'
import { wantedRange } from '../playback/byte-ranges.ts'

/**
 * Answers with a file or the part that the request asks for (RFC 9110, section 14). The caller sets the type.
 * @param size bytes of the file that may be read
 */
export function answerBytes(context: Context, path: string, size: number): void {
  context.set('Accept-Ranges', 'bytes')
  const range = wantedRange(context.get('Range'), size)
  if (range === 'outside') {
    context.status = 416
    context.set('Content-Range', `bytes */${size}`)
    context.body = ''
    return
  }
  const { offset, bytes } = range === 'all' ? { offset: 0, bytes: size } : range
  context.status = range === 'all' ? 200 : 206
  if (range !== 'all') context.set('Content-Range', `bytes ${offset}-${offset + bytes - 1}/${size}`)
  const isBare = context.method === 'HEAD' || bytes === 0
  context.body = isBare ? '' : createReadStream(path, { start: offset, end: offset + bytes - 1 })
  context.length = bytes
}
