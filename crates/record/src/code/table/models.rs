//! The codes about models and the network.
//! Owns: their words. Must not: hold code.

/// Hands these codes, after those before them, to the next list.
macro_rules! models {
    ([$next:ident $($rest:ident)*] $($before:tt)*) => {
        $next! { [$($rest)*] $($before)*
            WebUrl "web"."url" Error, "The address can't be fetched",
                "Only http and https addresses with a host, without user and password, are fetched.",
                "Give a plain http or https address.";
            WebAddress "web"."address" Error, "The host is a private or local address",
                "The name leads to an address of this machine, of a private network, or one that clouds answer with secrets. Such an address is reached only if its very host was granted.",
                "Grant the exact host with `countersign capability grant net:HOST`, if it should be reached.";
            WebUnreachable "web"."unreachable" Error, "The host gives no answer",
                "The name can't be resolved, the connection can't be made, or what came back is no HTTP.",
                "Check the address, and whether this machine has a network.";
            WebStatus "web"."status" Error, "The server answered with an error",
                "The answer's status is not one of success.",
                "Look up the status that the message names, and mend what it stands for.";
            WebRedirect "web"."redirect" Error, "A redirect was not followed",
                "It leads to what can't be fetched, in a circle, once too often, or from https to http. A redirect to another host is no error: the result says where it leads.",
                "Fetch the address that it should lead to by a call of its own.";
            WebCache "web"."cache" Warning, "The cache of fetched pages can't be used",
                "Its file is damaged, locked or from a newer version. Pages are fetched anew.",
                "Remove the file that the message names; it holds nothing that can't be fetched again.";
            ModelUnknown "model"."unknown" Error, "There is no model of this name",
                "No model of this name was set up, and none is built in.",
                "`countersign models list` shows those there are, `countersign models add` sets one up.";
            ModelConfig "model"."config" Error, "The settings of a model are wrong",
                "A provider, an address or a file that the settings name can't be used.",
                "Set the model up again with `countersign models add`.";
            ModelKey "model"."key" Error, "The key of a model can't be used",
                "Keys come from an environment variable or from a file that only its owner can read (mode 0600).",
                "Set the variable, or make the file readable by its owner alone.";
            ModelUnreachable "model"."unreachable" Error, "The model gives no answer",
                "The connection can't be made, or was cut before the answer was whole. It was tried again as often as is allowed.",
                "Check that the server runs at the address that `countersign models list` shows.";
            ModelBusy "model"."busy" Error, "The model has no time",
                "The server said again and again that it is too busy (429 or 5xx).",
                "Wait a while, and ask again.";
            ModelRefused "model"."refused" Error, "The model refuses the request",
                "The server answered that it will not take this request: a wrong key, an unknown model, or one that is too long. Asking again would change nothing.",
                "Look up the status that the message names, and mend what it stands for.";
            ModelReply "model"."reply" Error, "What the model sent is no answer",
                "The answer breaks its own protocol: no JSON, no UTF-8, too long, or cut off.",
                "Check that the server at this address speaks the protocol that the settings name.";
            ModelTimeout "model"."timeout" Error, "The model took too long",
                "There was no answer, or no more of it, within the time that is set.",
                "Ask for less, or set a longer time.";
            ModelCancelled "model"."cancelled" Warning, "The answer was cancelled",
                "Whoever asked did not wait for the end. What was said until then is not acted on.",
                "Ask again, if the answer is still wanted.";
            ModelUnrecorded "model"."unrecorded" Error, "No reply to this request was recorded",
                "A replay answers only what was asked before, word for word.",
                "Replay the run with the same input, or use another model.";
            HttpListen "http"."listen" Error, "The server can't listen at this address",
                "The address is in use, is not this machine's, or may not be used by this user.",
                "End what listens there, or name another address with --listen; port 0 takes any that is free.";
            HttpHost "http"."host" Error, "The request is for another host",
                "The Host header names neither this machine's loopback nor the address that the server listens at. A page of another site may have had its name lead here.",
                "Use the address that the server printed when it began.";
            HttpOrigin "http"."origin" Error, "The request comes from another site's page",
                "The Origin header is not the server's own, so a browser sent the request for a page of another site.",
                "Leave the Origin header out, or open the server's own address.";
            HttpPath "http"."path" Error, "There is nothing at this path",
                "The server has no such endpoint.",
                "See /openapi.json for the endpoints there are.";
            HttpMethod "http"."method" Error, "The path has no such method",
                "There is an endpoint of this path, but not with this method.",
                "See /openapi.json for the method that it has.";
            HttpQuery "http"."query" Error, "The query can't be read",
                "The part of the address after the question mark says something that the endpoint does not know.",
                "See /openapi.json for what it may say.";
            HttpMedia "http"."media" Error, "The body is not said to be JSON",
                "A body needs Content-Type: application/json, and no Content-Encoding. A page of another site can't send that without asking first.",
                "Send the header, and the text as it is.";
            HttpSlow "http"."slow" Error, "The body did not come in time",
                "The request's body was not there when its time was up. Nothing was done.",
                "Send it faster, or begin the server with a longer --timeout.";
            HttpCut "http"."cut" Error, "The body was cut off",
                "The connection ended, or broke its own protocol, before the body was whole. Nothing was done.",
                "Send the request again.";
            HttpBusy "http"."busy" Error, "The server has its hands full",
                "As many requests as it takes at once are at work, and none ended in time. Nothing was done.",
                "Wait a moment, and send the request again.";
            HttpFailed "http"."failed" Critical, "The server failed",
                "Something happened that should not. What is durable stays; a run that was at work can be gone on with.",
                "Look at what the server printed, and at the run with `countersign runs show`.";
            TokenMissing "token"."missing" Error, "There is no token",
                "Every request but /healthz needs the header Authorization: Bearer TOKEN.",
                "Send the token that the server printed at its first start, or one of `countersign token add`.";
            TokenUnknown "token"."unknown" Error, "There is no such token",
                "The token, or its id, is none of this data directory's.",
                "`countersign token list` shows those there are; `countersign token add` makes one.";
            TokenExpired "token"."expired" Error, "The token has expired",
                "It was made for a time, and that is over.",
                "Have another made with `countersign token add`.";
            TokenRevoked "token"."revoked" Error, "The token was revoked",
                "Somebody ended it, and it stays so.",
                "Have another made with `countersign token add`, if it should be.";
            TokenFile "token"."file" Error, "The file of tokens can't be used",
                "It can't be read or written, others than its owner can see it, or it holds something else. No token counts until it is mended.",
                "See the message. The file is tokens.json in the data directory and needs mode 0600; without it, the next start of the server makes a token.";
        }
    };
}
