import { mkdir, open, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppendOnlyStreamTarget, Mp4OutputFormat, Output, WebMOutputFormat } from 'mediabunny'
import { partSuffix } from '../../../shared/recordings/segment-path.ts'
import type { SegmentStart } from '../../../shared/recordings/segment.ts'

/** File of a segment that is being written. */
export interface SegmentOutput {
  output: Output
  /**
   * Ends the writing. Returns the bytes of the file.
   * @param growing leaves it as it is while it is written, with its suffix
   */
  close(growing?: boolean): Promise<number>
}

/** Begins the file of a segment as the recorder does: fragmented MP4 or WebM with its facts, under the name of an unfinished one. */
export async function openSegmentOutput(folder: string, start: SegmentStart): Promise<SegmentOutput> {
  const path = join(folder, start.file)
  await mkdir(dirname(path), { recursive: true })
  const file = await open(path + partSuffix, 'w')
  const target = new AppendOnlyStreamTarget(
    new WritableStream({ write: async (bytes) => void (await file.write(bytes)) }),
  )
  const format =
    start.container === 'mp4'
      ? new Mp4OutputFormat({ fastStart: 'fragmented', minimumFragmentDuration: 1 })
      : new WebMOutputFormat({ appendOnly: true })
  const output = new Output({ format, target })
  output.setMetadataTags({ comment: JSON.stringify(start) })
  return {
    output,
    async close(growing = false) {
      if (growing) await file.sync()
      else await output.finalize()
      await file.close()
      if (!growing) await rename(path + partSuffix, path)
      return (await stat(growing ? path + partSuffix : path)).size
    },
  }
}
