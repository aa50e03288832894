import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { belowOf, insideOf } from '../../shared/files/own-path.ts'
import type { DiagnosticsFile } from './diagnostics-files.ts'

/** Packs files into a tar.gz with one folder of this name. */
export async function packArchive(name: string, files: readonly DiagnosticsFile[]): Promise<Buffer> {
  const work = await mkdtemp(join(tmpdir(), 'roomdesk-diagnostics-'))
  try {
    for (const { name: file, content } of files) {
      const path = belowOf(insideOf(work, name), file)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await writeFile(path, content, { mode: 0o600 })
    }
    const archive = join(work, 'archive.tar.gz')
    const { create } = await import('tar')
    await create({ file: archive, cwd: work, gzip: true, portable: true }, [name])
    return await readFile(archive)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
