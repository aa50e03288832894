import type { RecordingSource, RecordingStream } from '../../../../shared/domain/recordings.ts'

/** Returns the key of a stream, as used in the page's address. */
export function keyOf({ room_id, user_id, source, quality }: RecordingStream): string {
  return [room_id, user_id, source, quality].map(encodeURIComponent).join('/')
}

/** Returns the stream of a key; undefined: not a key. */
export function streamOf(key: string): RecordingStream | undefined {
  const parts = key.split('/')
  const [room_id = '', user_id = '', source = '', quality = ''] = parts.map(decoded)
  const known = (source === 'main' || source === 'screen') && (quality === 'main' || quality === 'substream')
  return parts.length === 4 && room_id !== '' && user_id !== '' && known
    ? { room_id, user_id, source, quality }
    : undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** Returns only the fields that identify a stream. */
export function plainStream({ room_id, user_id, source, quality }: RecordingStream): RecordingStream {
  return { room_id, user_id, source, quality }
}

/** Returns the address of the page with the recordings of a room, or of one camera or user. */
export function recordingsOf(of: { room?: string; user?: string; at?: number }): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(of)) if (value !== undefined) query.set(name, String(value))
  return `/recordings?${query.toString()}`
}

/** Returns the name of the recorded user or camera. */
export function nameOf({ user_name, user_id }: Pick<RecordingSource, 'user_name' | 'user_id'>): string {
  return user_name === '' ? user_id : user_name
}
