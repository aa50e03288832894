import { digestForms } from '../../../shared/settings/network.ts'
import { NoReplyError } from '../client/api-call.ts'
import { readTarget, type Target, targetFlags } from '../client/target.ts'
import {
  type CommandContext,
  CommandError,
  type ExitCode,
  exitCodes,
  readCommandFlags,
  writeReport,
} from '../command.ts'
import { type ReportKey, reportKeyIn, signPage } from '../report-page.ts'
import { Cameras, type OpenCamera } from './cameras.ts'
import { type Answer, ApiClient } from './client.ts'
import { judge } from './judge.ts'
import { codeOf, wellFormed } from './operations.ts'
import { countOutcomes, htmlReport, isLockedOut, jsonReport, junitReport, tableReport } from './report.ts'
import { allRules } from './rules/all-rules.ts'
import type { Source } from './verdict.ts'

/**
 * Runs the command `roomdesk conformance`: judges a server of the API from outside.
 * @param openCamera starts a camera on this machine that streams
 */
export async function runConformance(
  { arguments: given, environment, version, signal, print, warn }: CommandContext,
  openCamera: () => Promise<OpenCamera>,
): Promise<ExitCode> {
  const { target, camera, documents, junit, json, html, key } = await readOptions(given, environment)
  const client = new ApiClient(target)
  const cameras = new Cameras(target.device, camera, openCamera)
  const began = performance.now()
  const startedAt = new Date().toISOString()
  try {
    const notice = await openSession(client, signal)
    if (notice !== undefined) warn(notice)
    const groups = allRules.map(({ title, rules }) => ({
      title,
      rules: rules.filter(({ source }) => documents.includes(source.document)),
    }))
    const judgement = await judge({ client, cameras, groups, documents, signal })
    const milliseconds = Math.round(performance.now() - began)
    const { media, device } = target
    const report = {
      ...judgement,
      media: media.href,
      device: device.href,
      checkedBy: `Roomdesk ${version}`,
      startedAt,
      milliseconds,
    }
    for (const line of tableReport(report)) print(line)
    if (json !== undefined) await writeReport(json, jsonReport(report))
    if (html !== undefined) {
      const page = htmlReport(report)
      await writeReport(html, key === undefined ? page : signPage(page, key))
      if (key !== undefined) print(`${html} is signed with the key ${key.name}.`)
    }
    if (junit !== undefined) await writeReport(junit, junitReport(report))
    // Without sign-ins, a rule may be broken for that reason alone.
    if (report.interrupted || isLockedOut(report.verdicts)) return exitCodes.noVerdict
    return countOutcomes(report.verdicts).broken === 0 ? exitCodes.fine : exitCodes.found
  } catch (error) {
    if (!signal.aborted) throw error
    warn('Interrupted before the first rule.')
    return exitCodes.noVerdict
  } finally {
    cameras.close()
  }
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
async function readOptions(given: readonly string[], environment: NodeJS.ProcessEnv): Promise<ConformanceOptions> {
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

/** Notice about a server that answers as clients of the original platform expect (contract, section 5). */
const olderClients =
  'This server serves clients of the original platform, so some answers differ by design: switch compatibility.older_clients off for this run.'

/**
 * Opens the session of a run, in the first form that the server accepts.
 * @returns a notice for the operator; undefined: none
 * @throws CommandError with one sentence that says what to correct
 */
export async function openSession(client: ApiClient, signal: AbortSignal): Promise<string | undefined> {
  const { media, device } = client.target
  for (const form of digestForms) {
    const { answer, token } = await answered(client.signIn(form, signal), media)
    if (answer.ret === undefined) throw notApi(media, 'media room API', answer)
    if (answer.ret !== 0 && answer.ret !== 401)
      throw new CommandError(`${media.href} cannot authenticate now: ${answer.exchange.came}`)
    if (answer.ret === 401) {
      client.refusedForms.add(form)
      continue
    }
    if (token === '') throw new CommandError(`${media.href} opened no session: ${answer.exchange.came}`)
    client.token = token
    client.form = form
    const list = await answered(client.call('list_outgoing_users', { roomId: client.newId() }, {}, signal), device)
    if (list.ret === undefined) throw notApi(device, 'external device API', list)
    await requireRooms(client, signal)
    return 'result' in list.fields ? olderClients : undefined
  }
  throw new CommandError(
    `${media.href} does not accept this key pair: check --access-key and --secret-key; after many failures wait a minute.`,
  )
}

/** Requires that the site makes rooms: most rules need one. @throws CommandError if its licence prevents that */
async function requireRooms(client: ApiClient, signal: AbortSignal): Promise<void> {
  const params = { ...wellFormed('create_room', ''), room_extend_id: client.newId() }
  const { ret, exchange } = await answered(client.call('create_room', params, {}, signal), client.target.media)
  const prevented = (['licenceExpired', 'licenceExceeded'] as const).some(
    (error) => ret === codeOf('create_room', error),
  )
  if (prevented)
    throw new CommandError(`${client.target.media.href} makes no rooms, which the rules need: ${exchange.came}`)
}

function notApi(url: URL, api: string, { reply, exchange }: Answer): CommandError {
  const { location } = reply.headers
  const reason = location === undefined ? exchange.came : `it redirects to ${location}`
  return new CommandError(`${url.href} is not the ${api}: ${reason}`)
}

async function answered<T>(work: Promise<T>, url: URL): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof NoReplyError)) throw error
    throw new CommandError(`The server ${url.href} ${error.message}.`, { cause: error })
  }
}
