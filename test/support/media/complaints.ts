import type { Log } from '../../../server/media/base/media-log.ts'

/** A log of the node that keeps what was wrong, for a test to look at. */
export function complaintLog(complaints: string[] = []): Log {
  const note = (message: string, detail = ''): void => void complaints.push(`${message}: ${detail}`)
  return { debug: () => {}, info: () => {}, warn: note, error: note }
}
