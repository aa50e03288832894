import { readTarget, type Target, targetFlags } from '../client/target.ts'
import { CommandError, readCommandFlags } from '../command.ts'
import { type ReportKey, reportKeyIn } from '../signed-page.ts'
import type { Source } from './verdict.ts'

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
  html: string | undefined
  /** Key that signs the page; undefined: it is not signed. */
  key: ReportKey | undefined
}

/** Text of `roomdesk conformance --help`. */
export const help = `Usage: roomdesk conformance --media URL --device URL --access-key K --secret-key S [flags]

Checks a server of the API from outside: every operation, code and rule of the contract. What it makes there is removed.

  --media URL              media room API, such as http://127.0.0.1:7080
  --device URL             external device API
  --access-key K           key pair of a credential of the server
  --secret-key S           its secret (or ROOMDESK_SECRET_KEY)
  --rules RULES            all (default), or specification: without what Roomdesk adds to it
  --camera ADDRESS         rtsp:// address of a camera without login that the server can reach; not needed on one machine
  --ca FILE                authority of the server's certificate, in PEM
  --junit FILE             writes the report as JUnit XML
  --json FILE              writes the report as JSON
  --html FILE              writes the report as a page to print
  --sign-key FILE          signs the page with this Ed25519 key in PEM, which is made if it is missing

Exit code: 0 nothing is broken, 1 a rule is broken, 2 no verdict.`

const flagNames = [...targetFlags, 'camera', 'rules', 'junit', 'json', 'html', 'sign-key'] as const

/** Reads the flags of the command. @throws CommandError */
export async function readOptions(
  given: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<ConformanceOptions> {
  const flags = readCommandFlags(given, flagNames)
  const { rules = 'all', camera, junit, json, html, 'sign-key': key } = flags
  if (rules !== 'all' && rules !== 'specification')
    throw new CommandError('--rules must be all, or specification: without what Roomdesk adds to it.')
  if (camera !== undefined && !/^rtsps?:\/\/[^@]+$/.test(camera))
    throw new CommandError('--camera must be the address of a camera without login, such as rtsp://10.0.0.5/stream.')
  if (key !== undefined && html === undefined) throw new CommandError('--sign-key signs the page of --html FILE.')
  return {
    target: await readTarget(flags, environment),
    camera,
    documents: rules === 'all' ? ['specification', 'contract'] : ['specification'],
    junit,
    json,
    html,
    key: key === undefined ? undefined : await reportKeyIn(key),
  }
}
