import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** Release to package. */
export interface Release {
  /** Folder of the project, built. */
  root: string
  version: string
  /** Number of the packaging: 1, and more when one version is packaged again. */
  revision: number
  maintainer: string
  homepage: string
  /** When it was made, as the packages tell it. */
  time: Date
  /** Level of zlib: 0 (none) to 9. */
  compression: number
}

const description = z.object({ version: z.string(), author: z.string(), homepage: z.string() })

/** @param environment SOURCE_DATE_EPOCH in it is the time; else the last commit's, else that of package.json */
export function describeRelease(
  root: string,
  options: Pick<Release, 'revision' | 'compression'>,
  environment: NodeJS.ProcessEnv,
): Release {
  const file = join(root, 'package.json')
  const { version, author, homepage } = description.parse(JSON.parse(readFileSync(file, 'utf8')))
  const commit = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' })
  const told = environment.SOURCE_DATE_EPOCH ?? (commit.status === 0 ? commit.stdout.trim() : '')
  const seconds = /^\d+$/.test(told) ? Number(told) : Math.floor(statSync(file).mtimeMs / 1_000)
  return { root, version, maintainer: author, homepage, time: new Date(seconds * 1_000), ...options }
}
