import type { MediaLog } from '../../../server/media/base/media-log.ts'

/** A log of the node that keeps warnings and errors for the test. */
export function complaintLog(complaints: string[] = []): MediaLog {
  const note = (message: string, detail = ''): void => void complaints.push(`${message}: ${detail}`)
  return { debug: () => {}, info: () => {}, warn: note, error: note }
}
