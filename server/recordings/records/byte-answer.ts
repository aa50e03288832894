import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import type { Context } from 'koa'
import { wantedRange } from '../playback/byte-ranges.ts'
import type { ByteRange } from '../playback/fragments.ts'

/**
 * Answers with a content or the part that the request asks for (RFC 9110, section 14). The caller sets the type.
 * @param size bytes of the content
 * @param read reads a part of it, which is not empty
 */
export function answerContent(context: Context, size: number, read: (part: ByteRange) => Readable): void {
  context.set('Accept-Ranges', 'bytes')
  const range = wantedRange(context.get('Range'), size)
  if (range === 'outside') {
    context.status = 416
    context.set('Content-Range', `bytes */${size}`)
    context.body = ''
    return
  }
  const part = range === 'all' ? { offset: 0, bytes: size } : range
  context.status = range === 'all' ? 200 : 206
  if (range !== 'all') context.set('Content-Range', `bytes ${part.offset}-${part.offset + part.bytes - 1}/${size}`)
  const isBare = context.method === 'HEAD' || part.bytes === 0
  context.body = isBare ? '' : read(part)
  context.length = part.bytes
}

/** Answers with a file; see `answerContent`. @param size bytes of the file that may be read */
export function answerBytes(context: Context, path: string, size: number): void {
  answerContent(context, size, ({ offset, bytes }) =>
    createReadStream(path, { start: offset, end: offset + bytes - 1 }),
  )
}
