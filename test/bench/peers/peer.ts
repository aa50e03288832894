/** A server of one camera, ours or another's. */
export interface Peer extends AsyncDisposable {
  name: string
  /** Of the process whose work is counted. */
  pid: number
  /** Of the page that viewers watch in. */
  url: string
  whep: string
  token: string
  /** It is the one that offers. */
  offers: boolean
}
