import { readFile } from 'node:fs/promises'
import { CommandError, readCommandFlags } from '../command.ts'
import type { Source } from './verdict.ts'

/** Server that is checked, and the key pair of a credential on it. */
export interface Target {
  media: URL
  device: URL
  accessKey: string
  secretKey: string
  /** Certificates of authorities to trust, in PEM; undefined: those of Node. */
  authorities: string | undefined
}

/** Options of the command. */
interface ConformanceOptions {
  target: Target
  /** Address of a camera that the server can reach; undefined: the command's own, for a server on this machine. */
  camera: string | undefined
  /** Documents whose rules are checked. */
  documents: readonly Source['document'][]
  /** Files for reports; undefined: none. */
  junit: string | undefined
  json: string | undefined
}

const flagNames = ['media', 'device', 'access-key', 'secret-key', 'ca', 'camera', 'rules', 'junit', 'json'] as const

/** Reads the flags of the command. @throws CommandError */
export async function readOptions(
  given: readonly string[],
  { ROOMDESK_SECRET_KEY }: NodeJS.ProcessEnv,
): Promise<ConformanceOptions> {
  const flags = readCommandFlags(given, flagNames)
  const { rules = 'all', camera, junit, json } = flags
  if (rules !== 'all' && rules !== 'specification')
    throw new CommandError('--rules must be all, or specification: without what Roomdesk adds to it.')
  if (camera !== undefined && !/^rtsps?:\/\//.test(camera))
    throw new CommandError('--camera must be an address that the server can reach, such as rtsp://10.0.0.5/stream.')
  return {
    target: {
      media: readUrl('media', flags.media),
      device: readUrl('device', flags.device),
      accessKey: required('access-key', flags['access-key']),
      secretKey: required('secret-key', flags['secret-key'] ?? ROOMDESK_SECRET_KEY),
      authorities: flags.ca === undefined ? undefined : await readText('ca', flags.ca),
    },
    camera,
    documents: rules === 'all' ? ['specification', 'contract'] : ['specification'],
    junit,
    json,
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
