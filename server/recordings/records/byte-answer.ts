import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Context } from 'koa'
import { hasCode } from '../../../shared/error-code.ts'
import { PathError } from '../../../shared/files/own-path.ts'
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

/** Answers with what is in a file by now; see `answerContent`. Returns whether there is one. @param open opens a file inside a folder of ours */
export async function answerFile(context: Context, open: () => Promise<FileHandle>): Promise<boolean> {
  const file = await open().catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT') && !(error instanceof PathError)) throw error
    return undefined
  })
  if (file === undefined) return false
  let isRead = false
  try {
    const { size } = await file.stat()
    answerContent(context, size, ({ offset, bytes }) => {
      isRead = true
      // It closes the file at its end, and when the client leaves.
      return file.createReadStream({ start: offset, end: offset + bytes - 1 })
    })
  } finally {
    if (!isRead) await file.close()
  }
  return true
}
