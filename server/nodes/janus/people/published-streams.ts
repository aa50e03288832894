import { z } from 'zod'

/** A stream of a publisher, as described by its room. */
export interface PublishedStream {
  mid: string
  kind: 'audio' | 'video'
  /** Codec name, e.g. `h264`. */
  codec: string
  /** Whether its packets contain the audio level (RFC 6464). */
  tellsLevel: boolean
  /** Whether the stream is muted in the room, so that no one receives it. */
  muted: boolean
  /** Whether the audio level is that of speech. */
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

/** Parses the streams of a publisher in Janus's events. */
export const publishedStreamsSchema = z.array(listedSchema).transform((listed) =>
  listed.flatMap(({ type, mid, codec, disabled, moderated, talking }): PublishedStream[] => {
    if (disabled || codec === '' || (type !== 'audio' && type !== 'video')) return []
    return [{ mid, kind: type, codec, tellsLevel: talking !== undefined, muted: moderated, speaks: talking === true }]
  }),
)

const levelUri = 'urn:ietf:params:rtp-hdrext:ssrc-audio-level'

/**
 * Returns the streams of an offer that the room accepted, by its answer. Janus sends this list to all participants
 * except the publisher.
 * @param codecs codecs named by the room; empty for none
 */
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
