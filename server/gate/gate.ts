declare const gated: unique symbol

/**
 * A handler that may stand behind a port: HTTP, WebSocket, the console's procedures, the questions of a media program. Made by `proven` or `unproven` only, so that no port answers
 * from the site's state by accident: after a sleep or a cut of the network, another controller may lead, and memory is out of date.
 */
export type Gated<Handler> = Handler & { readonly [gated]: true }

/** Source of proofs that this controller leads: the `Leadership` of a store. */
export interface ProofSource<View> {
  confirmed(): View | Promise<View>
}

/**
 * Why a handler needs no proof.
 * - `no state`: it serves constants, files of the program, or a certificate.
 * - `this process`: it reports on this process, which a monitor reads whoever leads.
 * - `the leader answers`: it passes everything to the controller that leads.
 * - `gated inside`: it dispatches to handlers that are gated themselves.
 * - `media program`: it runs in a process without the site's state.
 * - `between controllers`: another controller proves itself, and asks whether this one leads.
 */
export type UnprovenReason =
  | 'no state'
  | 'this process'
  | 'the leader answers'
  | 'gated inside'
  | 'media program'
  | 'between controllers'

/** Returns the handler as one that reads nothing of the site's state. */
export function unproven<Call extends unknown[], Answer>(
  _reason: UnprovenReason,
  handler: (...call: Call) => Answer,
): Gated<(...call: Call) => Answer> {
  return handler as Gated<typeof handler>
}

/**
 * Returns a handler that is called with the view of the confirmed leader, proven for each call: at once while the last proof counts, otherwise once there is one.
 * @param refused answers the same call where it is not confirmed that this controller leads; `error`: see `Leadership.confirmed`
 */
export function proven<View, Call extends unknown[], Answer>(
  source: ProofSource<View>,
  handler: (view: View, ...call: Call) => Answer | Promise<Answer>,
  refused: (error: unknown, call: NoInfer<Call>) => NoInfer<Answer> | Promise<NoInfer<Answer>>,
): Gated<(...call: Call) => Answer | Promise<Answer>> {
  const ask = (...call: Call): Answer | Promise<Answer> => {
    const view = source.confirmed()
    if (!(view instanceof Promise)) return handler(view, ...call)
    return view.then(
      (confirmed) => handler(confirmed, ...call),
      (error: unknown) => refused(error, call),
    )
  }
  return ask as Gated<typeof ask>
}
