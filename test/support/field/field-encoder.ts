import ndc, { type PeerConnection, type Track } from 'node-datachannel'
import { answeredOffer } from '../media/answered-offer.ts'
import { pictureFormat } from './field-camera.ts'
import { type FieldFilm, filmRate } from './field-film.ts'
import { type Packer, usualPacker } from './packing.ts'

/** An encoder that publishes a film by WHIP in its own way. */
export class FieldEncoder implements AsyncDisposable {
  readonly #connection: PeerConnection
  readonly #track: Track
  #timer: NodeJS.Timeout | undefined
  #session = ''

  private constructor(connection: PeerConnection, track: Track) {
    this.#connection = connection
    this.#track = track
  }

  /**
   * Publishes a film, and sends once it is connected.
   * @param codec named in the offer
   * @param sound codec of a sound beside it, of which no packet is sent
   * @param offer changes the offer
   * @throws MediaRefusedError
   */
  static async publish(
    url: string,
    token: string,
    {
      film,
      codec = 'H264',
      packing = usualPacker,
      sound,
      offer,
    }: {
      film: FieldFilm
      codec?: 'H264' | 'H265' | 'AV1'
      packing?: Packer
      sound?: string
      offer?: (sdp: string) => string
    },
  ): Promise<FieldEncoder> {
    const connection = new ndc.PeerConnection('encoder', {
      iceServers: [],
      bindAddress: '127.0.0.1',
      disableAutoNegotiation: true,
    })
    const video = new ndc.Video('0', 'SendOnly')
    if (codec === 'H264') video.addH264Codec(96, pictureFormat(film))
    else video.addVideoCodec(96, codec)
    video.addSSRC(1, 'encoder', 'encoder', 'video')
    const track = connection.addTrack(video)
    track.onClosed(() => {})
    track.onMessage(() => {})
    if (sound !== undefined) {
      const audio = new ndc.Audio('1', 'SendOnly')
      audio.addAudioCodec(97, sound)
      audio.addSSRC(2, 'encoder', 'encoder', 'audio')
      connection.addTrack(audio).onClosed(() => {})
    }
    const encoder = new FieldEncoder(connection, track)
    try {
      encoder.#session = await answeredOffer(connection, url, token, offer === undefined ? {} : { offer })
    } catch (error) {
      connection.close()
      throw error
    }
    encoder.#send(film, packing)
    return encoder
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await fetch(this.#session, { method: 'DELETE' })
    this.#connection.close()
  }

  #send(film: FieldFilm, packing: Packer): void {
    let index = 0
    let number = 0
    this.#timer = setInterval(() => {
      const picture = film.pictures[index % film.pictures.length]
      if (!this.#track.isOpen() || picture === undefined) return
      for (const { payload, marker, padded = false } of packing(picture, film, index)) {
        const header = Buffer.alloc(12)
        header.set([padded ? 0xa0 : 0x80, (marker ? 0x80 : 0) | 96])
        header.writeUInt16BE(number++ & 0xffff, 2)
        header.writeUInt32BE((index * 90_000) / filmRate, 4)
        header.writeUInt32BE(1, 8)
        this.#track.sendMessageBinary(Buffer.concat([header, payload]))
      }
      index += 1
    }, 1_000 / filmRate)
  }
}
