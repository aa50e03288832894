import { readFile } from 'node:fs/promises'
import { CommandError } from '../command.ts'

/** Server that a command calls, and the key pair of a credential on it. */
export interface Target {
  media: URL
  device: URL
  accessKey: string
  secretKey: string
  /** Certificates of authorities to trust, in PEM; undefined: those of Node. */
  authorities: string | undefined
}

/** Flags that describe a server. */
export const targetFlags = ['media', 'device', 'access-key', 'secret-key', 'ca'] as const

/**
 * Reads the flags that describe a server.
 * @param mediaFlag flag of the media room API, for errors
 * @throws CommandError
 */
export async function readTarget(
  flags: Partial<Record<(typeof targetFlags)[number], string | undefined>>,
  { ROOMDESK_SECRET_KEY }: NodeJS.ProcessEnv,
  mediaFlag = 'media',
): Promise<Target> {
  return {
    media: readUrl(mediaFlag, flags.media),
    device: readUrl('device', flags.device),
    accessKey: required('access-key', flags['access-key']),
    secretKey: required('secret-key', flags['secret-key'] ?? ROOMDESK_SECRET_KEY),
    authorities: flags.ca === undefined ? undefined : await readText('ca', flags.ca),
  }
}

function required(flag: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new CommandError(`--${flag} is missing.`)
  return value
}

function readUrl(flag: string, value: string | undefined): URL {
  const url = URL.parse(required(flag, value))
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '')
    throw new CommandError(`--${flag} must be the address of the API, such as http://127.0.0.1:7080.`)
  return url
}

async function readText(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(`--${flag} cannot be read: ${reason}.`, { cause: error })
  }
}
