import { z } from 'zod'

const jsepSchema = z.looseObject({ type: z.enum(['offer', 'answer']), sdp: z.string() })

/** A session description in the format of Janus. */
export type Jsep = z.output<typeof jsepSchema>

const candidateSchema = z.looseObject({
  candidate: z.string().optional(),
  sdpMid: z.string().optional(),
  sdpMLineIndex: z.number().optional(),
  completed: z.boolean().optional(),
})

/** An ICE candidate, or the end of candidates (`completed`). */
export type JanusCandidate = z.output<typeof candidateSchema>

/** A message of Janus to a client of its API, with the fields that are used here. */
export const janusMessageSchema = z.looseObject({
  janus: z.string(),
  transaction: z.string().optional(),
  session_id: z.number().optional(),
  /** The handle that sent the message. */
  sender: z.number().optional(),
  data: z.looseObject({ id: z.number() }).optional(),
  error: z.looseObject({ code: z.number(), reason: z.string() }).optional(),
  plugindata: z.looseObject({ data: z.record(z.string(), z.unknown()) }).optional(),
  jsep: jsepSchema.optional(),
  candidate: candidateSchema.optional(),
  /** Reason of a hangup. */
  reason: z.string().optional(),
  /** Kind of `media`: `audio` or `video`. */
  type: z.string().optional(),
  mid: z.string().optional(),
  receiving: z.boolean().optional(),
})

export type JanusMessage = z.output<typeof janusMessageSchema>

/** Answer or event of a plugin, with a session description if it has one. */
export interface PluginMessage {
  data: Record<string, unknown>
  jsep: Jsep | undefined
}
