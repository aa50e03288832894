import type { ByteSource } from './byte-source.ts'
import type { Fragment, FragmentTable, Scan, ScanState } from './fragments.ts'
import { HeaderReader } from './header-reader.ts'

/** Times that differ by less are the same, in seconds. */
const sameTime = 0.001

/** Fragments with pictures at a time and on both sides of it: the pictures before and after any picture there are among theirs. @param at seconds of media time */
export function fragmentsAround({ fragments }: FragmentTable, at: number): readonly Fragment[] {
  const pictured = fragments.filter(({ pictures }) => pictures > 0)
  const here = pictured.findLastIndex(({ start }) => start <= at + sameTime)
  return pictured.slice(Math.max(0, here - 1), Math.max(0, here) + 2)
}

/** Reads the times of the pictures of some fragments, in seconds of media time and in order. */
export async function pictureTimes(
  source: Pick<ByteSource, 'read'>,
  scan: Scan,
  { init, tracks, units }: FragmentTable,
  fragments: readonly Fragment[],
): Promise<number[]> {
  const times: number[] = []
  for (const { offset, bytes } of fragments) {
    const state: ScanState = { ...units, init, tracks: [...tracks], fragments: [], next: offset, pictureTimes: times }
    await scan(new HeaderReader(source, offset + bytes), state, true)
  }
  return times.sort((one, other) => one - other)
}
