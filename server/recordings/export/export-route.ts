import { LRUCache } from 'lru-cache'
import { atLeast } from '../../../shared/domain/roles.ts'
import type { Capabilities } from '../../capabilities/capabilities.ts'
import { wantedRange } from '../playback/fragments.ts'
import { FileReads } from '../playback/file-reads.ts'
import { type FurtherRoute, refusalResponse } from '../playback/playback-handler.ts'
import type { PlaybackPort } from '../playback/playback-port.ts'
import type { ExportJobs } from './export-jobs.ts'

const types: Readonly<Record<string, string>> = { mp4: 'video/mp4', webm: 'video/webm', zip: 'application/zip' }
/** Maximum number of reported downloads in memory, one per export and account. */
const maxReported = 1_000

/**
 * Sends the result of an export to the account that requested it, while that account may export, and to admins. A range
 * request resumes an interrupted download.
 * Reports the first download of an export by each account, but no further requests.
 * @param capabilities contains one capability per export, with the export id as its token. The capability ends when its
 * maker is disabled, demoted or deleted
 */
export function exportRoute(
  jobs: Pick<ExportJobs, 'file'>,
  capabilities: Pick<Capabilities, 'openSignedIn'>,
  port: Pick<PlaybackPort, 'downloaded'>,
): FurtherRoute {
  const reported = new LRUCache<string, true>({ max: maxReported })
  const reads = new FileReads({ all: 32, account: 8, address: 16 })
  return async (request, caller, id) => {
    const file = await jobs.file(id)
    const isMaker = file?.account === caller.accountId && atLeast(caller.role, 'operator')
    const mine = file !== undefined && (isMaker || atLeast(caller.role, 'admin'))
    if (!mine || !capabilities.openSignedIn(id))
      return refusalResponse(404, 'There is no such export. Results are deleted after an hour.')
    const range = wantedRange(request.headers.get('Range'), file.bytes)
    if (range === 'outside')
      return refusalResponse(416, 'The range begins behind the end of the file.', {
        'Content-Range': `bytes */${file.bytes}`,
      })
    const piece = range === 'all' ? { offset: 0, bytes: file.bytes } : range
    const end = piece.offset + piece.bytes - 1
    const headers = {
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
      'Accept-Ranges': 'bytes',
      ETag: `"${id}"`,
      'Content-Type': types[file.name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
      'Content-Length': String(piece.bytes),
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`,
      ...(range === 'all' ? {} : { 'Content-Range': `bytes ${piece.offset}-${end}/${file.bytes}` }),
    }
    const status = range === 'all' ? 200 : 206
    if (request.method === 'HEAD') return new Response(null, { status, headers })
    const body = await reads.stream(file.open, [piece], caller)
    if (body === undefined)
      return refusalResponse(503, 'Too many files are being read. Try again in a moment.', { 'Retry-After': '1' })
    const download = `${id} ${caller.accountId}`
    if (!reported.has(download)) port.downloaded({ caller, account: file.account, streams: file.streams })
    reported.set(download, true)
    return new Response(body, { status, headers })
  }
}
