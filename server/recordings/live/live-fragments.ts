import { locate } from '../playback/segment-sources.ts'
import type { LiveStream } from './live-stream.ts'
import { fragmentEnd, type LiveFragment } from './live-window.ts'

/** Fragment of a live stream with its bytes. */
export interface ReadFragment {
  fragment: LiveFragment
  /** Init followed by the fragment. */
  bytes: Buffer
}

/** Maximum wait for the next fragment, in milliseconds: key frames may be far apart. */
const fragmentMs = 5_000

/**
 * Reads a live stream as it grows, until the signal aborts.
 * @param after last fragment already read; undefined: starts with the newest fragment, so that readers receive live
 * pictures
 * @throws errors of the file system
 */
export async function* liveFragments(
  stream: LiveStream,
  folder: string,
  signal: AbortSignal,
  after?: LiveFragment,
): AsyncGenerator<ReadFragment> {
  let read = after
  while (!signal.aborted) {
    await stream.wait(read === undefined ? 0 : fragmentEnd(read), fragmentMs, signal)
    for (const fragment of newer(stream.window.fragments, read)) {
      if (signal.aborted) return
      read = fragment
      yield { fragment, bytes: await bytesOf(stream, folder, fragment) }
    }
  }
}

function newer(fragments: readonly LiveFragment[], read: LiveFragment | undefined): readonly LiveFragment[] {
  if (read === undefined) return fragments.slice(-1)
  return fragments.filter(
    ({ segment, offset }) => segment > read.segment || (segment === read.segment && offset > read.offset),
  )
}

async function bytesOf(
  stream: LiveStream,
  folder: string,
  { segment, init, offset, bytes }: LiveFragment,
): Promise<Buffer> {
  const found = stream.segmentAt(segment)
  if (found === undefined) throw new Error('a segment is gone')
  const { open } = await locate(folder, found.file)
  const handle = await open()
  try {
    const buffer = Buffer.alloc(init.bytes + bytes)
    await handle.read(buffer, 0, init.bytes, init.offset)
    await handle.read(buffer, init.bytes, bytes, offset)
    return buffer
  } finally {
    await handle.close()
  }
}
