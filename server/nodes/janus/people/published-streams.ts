import { z } from 'zod'

/** One stream of what somebody publishes, as its room names it. */
export interface PublishedStream {
  mid: string
  kind: 'audio' | 'video'
  /** E.g. `h264`. */
  codec: string
  /** Its packets tell how loud they are (RFC 6464). */
  tellsLevel: boolean
  /** It is passed on to nobody. */
  muted: boolean
  /** It is loud enough for speech. */
  speaks: boolean
}

const listedSchema = z.looseObject({
  type: z.string(),
  mid: z.string().default(''),
  codec: z.string().default(''),
  disabled: z.boolean().default(false),
  moderated: z.boolean().default(false),
  talking: z.boolean().optional(),
})

/** Streams of a publisher in what Janus tells. */
export const publishedStreamsSchema = z.array(listedSchema).transform((listed) =>
  listed.flatMap(({ type, mid, codec, disabled, moderated, talking }): PublishedStream[] => {
    if (disabled || codec === '' || (type !== 'audio' && type !== 'video')) return []
    return [{ mid, kind: type, codec, tellsLevel: talking !== undefined, muted: moderated, speaks: talking === true }]
  }),
)

const levelUri = 'urn:ietf:params:rtp-hdrext:ssrc-audio-level'

/** Streams that a room took of an offer, by its answer: Janus tells everybody but who publishes them. @param codecs as the room names them; empty for none */
export function streamsOfAnswer(
  answer: string,
  codecs: Readonly<Record<PublishedStream['kind'], string>>,
): PublishedStream[] {
  return answer
    .split(/\r?\n(?=m=)/)
    .slice(1)
    .flatMap((section): PublishedStream[] => {
      const [, kind, port] = /^m=(audio|video) (\d+) /.exec(section) ?? []
      const [, mid = ''] = /^a=mid:(\S+)/m.exec(section) ?? []
      if ((kind !== 'audio' && kind !== 'video') || port === '0' || /^a=inactive/m.test(section)) return []
      const codec = codecs[kind]
      return codec === ''
        ? []
        : [{ mid, kind, codec, tellsLevel: section.includes(levelUri), muted: false, speaks: false }]
    })
}
