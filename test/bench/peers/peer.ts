/** A server of one camera, ours or another's. */
export interface Peer extends AsyncDisposable {
  name: string
  /** Id of the measured process. */
  pid: number
  /** URL of the page for viewers. */
  url: string
  whep: string
  token: string
  /** The server sends the offer. */
  offers: boolean
}
