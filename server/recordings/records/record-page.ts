import type { Context, Middleware } from 'koa'
import type { Gated } from '../../gate/gate.ts'
import { provenPage } from '../../gate/page.ts'
import type { Leadership } from '../../store/store.ts'
import { answerFile } from './byte-answer.ts'
import { recordPath, type RecordFiles } from './record-files.ts'

/** Content types of files. */
export const containerTypes = { mp4: 'video/mp4', webm: 'video/webm' } as const

/** `GET /record/<file>`: the file of a recording for whoever has its address, as long as the recording exists. */
export function recordDownload(files: RecordFiles, leadership: Leadership): Gated<Middleware> {
  const isAt = (path: string): boolean => path.startsWith(recordPath)
  return provenPage(leadership, isAt, async (_view, context) => {
    setPrivate(context)
    const found = files.find(context.path.slice(recordPath.length))
    if (found === undefined || !(await answerFile(context, found.open))) return answerNothing(context)
    context.type = containerTypes[found.file.container]
    context.set('Content-Disposition', `inline; filename="${found.file.file}"`)
  })
}

export function isRead({ method }: Context): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Media of people: no cache keeps it, and no page learns the address by a referrer. Players of other sites may read it, because the address is the proof. */
export function setPrivate(context: Context): void {
  context.set({
    'Cache-Control': 'private, no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'Content-Length, Content-Range',
    'Cross-Origin-Resource-Policy': 'cross-origin',
  })
}

/** The same answer for an address that never was and for one that is void. */
export function answerNothing(context: Context): void {
  context.status = 404
  context.type = 'text/plain; charset=utf-8'
  context.body = 'There is nothing at this address, or not any more.\n'
}
