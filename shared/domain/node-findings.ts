import { z } from 'zod'

/**
 * Severity of a finding, the worst first. `error`: the node cannot serve rooms; `unsafe`: it can be abused; `notice`:
 * it works with limitations.
 */
export const findingSeverities = ['error', 'unsafe', 'notice'] as const
export type FindingSeverity = (typeof findingSeverities)[number]

/** Sentence about the remedy for each finding of a node's test. `{…}` stands for a value. */
export const nodeFindingSentences = {
  wsUnreachable: 'The WebSocket address does not answer ({reason}): check ws_url, its port and the firewall.',
  wsNotJanus: 'The WebSocket address is not that of Janus ({reason}): check the port and path of ws_url.',
  apiSecretWrong:
    'The node refuses the api_secret: enter the one of its janus.jcfg, or install the configuration files.',
  versionOld: 'The node runs Janus {version}: install 1.1 or newer.',
  pluginMissing: 'The plugin {plugin} is not loaded: install it, or take it off the disabled ones in janus.jcfg.',
  stringIdsOff: 'Rooms need names: set string_ids = true in {plugin}.jcfg.',
  adminUnreachable:
    'The Admin API does not answer ({reason}): check admin_url, its port, the firewall and admin_acl of the node.',
  adminNotJanus: 'The address of the Admin API is not that of Janus ({reason}): check the port and path of admin_url.',
  adminSecretWrong:
    'The Admin API refuses the admin_secret: enter the one of its janus.jcfg, or install the configuration files.',
  serversDiffer: 'ws_url and admin_url lead to two different servers: correct one of them.',
  adminKeyWrong:
    'The node refuses the admin_key: enter the one of its {plugin}.jcfg, or install the configuration files.',
  tokenSecretWrong:
    'The node refuses tokens signed with the token_secret, so that nobody can join: enter the token_auth_secret of its janus.jcfg, or install the configuration files.',
  tokenSecretMissing:
    'The node asks for signed tokens, but token_secret is left out, so that nobody can join: enter the token_auth_secret of its janus.jcfg, or install the configuration files.',
  clockAhead:
    'The clock of the node is {seconds} s ahead of this machine, so that people are refused too early: synchronise both (NTP).',
  clockBehind:
    'The clock of the node is {seconds} s behind this machine, so that people are admitted for too long: synchronise both (NTP).',
  trialFailed: 'A trial room could not be tested: {reason}.',
  tokenAuthOff:
    'Anybody who can reach the node can use it, because it asks for no token: install the configuration files, or set token_auth and token_auth_secret in janus.jcfg.',
  adminOpen: 'The Admin API answers without a secret: set admin_secret in janus.jcfg.',
  roomsCreatable: 'Anybody can create rooms: set admin_key in janus.plugin.videoroom.jcfg, and here.',
  camerasCreatable:
    'Anybody can make the node connect to any address: set admin_key in janus.plugin.streaming.jcfg, and here.',
  forwardingOpen:
    'Media of a room can be sent to any address with the secret of the room alone: set lock_rtp_forward = true and admin_key in janus.plugin.videoroom.jcfg.',
  recordingOpen: 'People can write recordings to any file on the node: install a Janus that knows lock_record.',
  roomOpen:
    'Somebody without rights could do this with a room that is not theirs ({acts}): install the configuration files.',
  roomsUnguarded:
    'Without a token_secret everybody who knows the ID of a room can join it: install the configuration files.',
  adminUnused:
    'Without an admin_url, people who were removed stay connected to the node: enable the Admin API on a management network.',
  eventsOff:
    'No Janus events: open the event port (Settings › Network, or --event-port) and reinstall the configuration files; where this site has a certificate, let the node trust it.',
  reclaimOff: 'Cameras leave their rooms when the controller restarts: set reclaim_session_timeout = 60 in janus.jcfg.',
  roomsListed:
    'Everybody who is let in can list rooms of others on this node ({count}): remove them from janus.plugin.videoroom.jcfg.',
  dependenciesShown: 'The node tells strangers which libraries it uses: set hide_dependencies = true in janus.jcfg.',
  pluginsUnused: 'Plugins that are not needed are loaded ({plugins}): disable them in janus.jcfg.',
} as const
export type NodeFindingCode = keyof typeof nodeFindingSentences

const codes = Object.keys(nodeFindingSentences) as NodeFindingCode[]

/** Problem of a node: an error, a risk, or a limitation. */
export const nodeFinding = z.strictObject({
  code: z.enum(codes),
  severity: z.enum(findingSeverities),
  /** One sentence about the remedy. */
  message: z.string(),
  /** Values for the placeholders in braces in the text of `nodeFindingSentences`. */
  values: z.record(z.string(), z.string()),
})
export type NodeFinding = z.output<typeof nodeFinding>
